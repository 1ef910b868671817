import ast,sys,pathlib
for top in sys.argv[1:]:
    for p in sorted(pathlib.Path(top).rglob('*.py')):
        t=ast.parse(p.read_text()); 
        d=(ast.get_docstring(t) or '').split('\n\n')[0].replace('\n',' ')
        print(f"## {p} [{len(p.read_text().splitlines())}] {d}")
        imps=[]; 
        for n in ast.walk(t):
            if isinstance(n,ast.ImportFrom) and n.module and n.module.startswith('synthrisk'):
                lazy='' if n in t.body else '~'
                imps.append(lazy+n.module.replace('synthrisk.','')+'('+','.join(a.name+(' as '+a.asname if a.asname else '') for a in n.names)+')')
        if imps: print('  <- '+' '.join(imps))
        defs=[]
        for n in t.body:
            if isinstance(n,(ast.FunctionDef,ast.ClassDef)): defs.append(('C ' if isinstance(n,ast.ClassDef) else '')+n.name)
            elif isinstance(n,ast.Assign): defs+= [x.id+'=' for x in n.targets if isinstance(x,ast.Name)]
            elif isinstance(n,ast.AnnAssign) and isinstance(n.target,ast.Name): defs.append(n.target.id+':=')
        print('  : '+' '.join(defs))
