import ast,sys,pathlib
H={'prefect','mlflow','pandas','numpy','matplotlib','pyarrow','scipy','sklearn','pydantic','yaml','typer','rich','fsspec','sqlalchemy','click','filelock','jinja2','fastapi','psutil'}
for top in sys.argv[1:]:
    for p in sorted(pathlib.Path(top).rglob('*.py')):
        t=ast.parse(p.read_text()); s=set()
        def walk(b):
            for n in b:
                if isinstance(n,ast.Import): s.update(a.name.split('.')[0] for a in n.names)
                elif isinstance(n,ast.ImportFrom): s.add((n.module or '').split('.')[0])
                elif isinstance(n,(ast.If,)) and 'TYPE_CHECKING' not in ast.dump(n.test): walk(n.body)
                elif isinstance(n,ast.Try): walk(n.body)
        walk(t.body)
        print(p, *sorted(s&H))
