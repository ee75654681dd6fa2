"""defaults.txt: written by hand, because the defaults are Go code, and the OpenAPI documents have only a few of them."""
import schemas


def check(text, model):
    """Exits with an error if a type or field in defaults.txt does not exist."""
    unknown = list(unknown_names(text, model))
    if unknown:
        raise SystemExit("defaults.txt has names that schemas.txt does not have: " + ", ".join(unknown))


def unknown_names(text, model):
    names = schemas.type_names(model)
    types = {name: model.types[full] for full, name in names.items()}
    fields = {}  # of all types with the same short name: the server applies the defaults to each of them
    for full, name in names.items():
        fields.setdefault(name.rpartition(".")[2], set()).update(model.types[full].fields)
    for line in (line for line in text.splitlines() if not line.startswith("#")):
        if line.startswith(" "):
            name = line.split()[0]
            if of_type and name not in (fields[heading] if heading in fields else of_type.fields):
                yield f"{heading}.{name}"
            continue
        heading = line
        name, _, field = heading.partition(".")
        of_type = types.get(name)
        if of_type and field:  # the defaults of a type apply only to this field
            of_field = of_type.fields.get(field)
            of_type = of_field and types.get(schemas.type_expression(of_field.value, names))
        if not of_type:
            yield heading
