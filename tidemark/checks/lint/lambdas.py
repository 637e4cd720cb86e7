"""Parses scripts with their lambdas as functions, so that both are followed alike."""

import ast

from tidemark.model.programs import program_of


def parsed_script(text: str) -> ast.Module:
    r"""Return the program of a script, each lambda as a function in front of its statement.

    >>> ast.unparse(parsed_script("read = lambda table: spark.table(table)"))
    'def read(table):\n    return spark.table(table)'
    >>> ast.unparse(parsed_script("all = map(lambda t: spark.table(t), tables)"))
    'def lambda_1_10(t):\n    return spark.table(t)\nall = map(lambda_1_10, tables)'
    """
    tree = program_of(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]:
        statement: ast.AST = node
        while not isinstance(statement, ast.stmt):
            statement = parents[statement]
        name, inserted = f"lambda_{node.lineno}_{node.col_offset}", [statement]
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=value)
            ) if value is node:
                name, inserted = bound, []
        returned = ast.copy_location(ast.Return(node.body), node.body)
        function = ast.FunctionDef(name, node.args, [returned], [])
        ast.copy_location(function, node)
        _replace(parents[node], node, [ast.copy_location(ast.Name(name, ast.Load()), node)])
        _replace(parents[statement], statement, [function, *inserted])
        parents |= {function: parents[statement], node.args: function, node.body: returned}
        parents[returned] = function
    return tree


def _replace(parent: ast.AST, node: ast.AST, by: list[ast.AST]) -> None:
    """Put nodes in the place of a child of another one."""
    for name, part in ast.iter_fields(parent):
        if isinstance(part, list) and node in part:
            part[part.index(node) : part.index(node) + 1] = by
        elif part is node:
            setattr(parent, name, by[0])
