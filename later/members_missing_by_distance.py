import sys,warnings; sys.path.insert(0,'./benchmarks'); warnings.simplefilter('ignore')
import numpy as np, pandas as pd
from _answers_tables import people
from _answers_releases import RELEASES, _distance, _radius
from synthrisk.metrics.release import nearness as N
from synthrisk.metrics.release.verbatim import verbatim
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.tables.tables import Tables
for name in ('laboratory','anes96','adult'):
    p=people(name,None if name!='adult' else 2000,0); rel='repelled'
    k=RELEASES[rel]; r=k.make(p,np.random.default_rng([0,list(RELEASES).index(rel)]))
    cols=[c for c in p.members.columns if c!=p.person]
    tab=Tables(pd.concat([p.members,p.control],ignore_index=True)[cols],r[cols],groups=np.repeat([1,0],[len(p.members),len(p.control)]))
    g=tab.groups
    print(name,len(p.members),len(p.control),len(r),len(cols),p.members[cols].nunique().tolist())
    near=N.nearness(tab); print('   ',near.suspicious[:150], near.excess)
    for dist in ('gower',):
        d=real_to_synthetic(tab,dist).distances[:,0]
        for f in (.01,.05,.1,.2,.35,.5):
            print('   ',dist,f, round(N.below_quantile(d[g==1],d[g==0],f)/sum(g==1),4), end=';')
        print()
    for what,fn in N._DISGUISES:
        d=fn(tab,np.arange(len(g)))
        print('   ',what[:30],[round(N.below_quantile(d[g==1],d[g==0],f)/sum(g==1),4) for f in (.01,.05,.1,.2,.35,.5)])
