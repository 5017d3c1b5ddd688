"""Random small templates for make_template_cases.py."""

NAMES = ["i", "zero", "neg", "f", "yes", "no", "nothing", "s", "t", "e", "u", "num", "l", "ls", "lm",
         "el", "d", "ed", "dd", "items", "lines", "pairs", "missing", "v", "w", "ns.a", "messages"]
STRINGS = ["a", "", " ", "Hello", "l", ",", "name", "k", "x", "World", "\\n", "ü", "%s-%s", "{}{}",
           "b", "items", "12", "3.5", "-7", "text"]
ATTRIBUTES = ["name", "k", "x", "y", "a", "b", "items", "role", "content", "0", "first", "nope"]
BINARY = ["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">="]
BINARY_OF_ALL = ["~", "==", "!=", "and", "or", "in", "not in"]
TEXTS = {"s", "t", "e", "u", "num", "lines"}
DICTS = {"d", "ed", "dd"}
FILTERS = ["length", "upper", "lower", "trim", "list", "first", "last", "join", "join(',')",
           "join(', ', attribute='name')", "default('D')", "default('D', true)", "d(1)", "string",
           "int", "float", "abs", "round", "round(1)", "round(1, 'floor')", "sort", "sort(reverse=true)",
           "reverse|list", "unique|list", "tojson", "tojson(indent=2)", "tojson(separators=(',', ':'))",
           "map('upper')|list", "map(attribute='name')|list", "map('string')|join('|')",
           "select|list", "reject('none')|list", "selectattr('ok')|list",
           "selectattr('k', 'equalto', 1)|map(attribute='name')|list", "rejectattr('ok')|list|length",
           "dictsort", "dictsort(by='value')", "items|list", "replace('l', 'L')", "replace('', '-')",
           "replace('o', '0', 1)", "title", "capitalize", "indent", "indent(2, true)",
           "indent(first=true, blank=true)", "batch(2)|list", "batch(2, 0)|list", "slice(2)|list",
           "slice(3, 'x')|list", "min", "max", "sum", "wordcount", "center(20)", "truncate(5)",
           "truncate(7, true)", "escape", "safe", "e|upper", "format('x', 'y')", "groupby('k')|list",
           "sort(attribute='k')|map(attribute='name')|join", "urlencode", "count", "sum(attribute='k')",
           "max(attribute='k')", "xmlattr", "striptags", "attr('upper') is callable", "filesizeformat"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true",
         "false", "mapping", "sequence", "iterable", "callable", "odd", "even", "divisibleby 2",
         "divisibleby(3)", "eq 1", "ne(1)", "lt 3", "gt(2)", "in [1, 2, 'a']", "lower", "upper",
         "sameas none", "equalto 'a'", "escaped", "ge 1", "filter", "test"]
METHODS = ["upper()", "lower()", "strip()", "lstrip()", "rstrip('d ')", "split()", "split(',')",
           "split('l', 1)", "rsplit(' ', 1)", "splitlines()", "startswith('He')", "endswith(('d', 'x'))",
           "replace('l', '')", "title()", "capitalize()", "find('o')", "rfind('l')", "count('l')",
           "join(['x', 'y'])", "format(1, a=2)", "isdigit()", "isalpha()", "swapcase()", "zfill(5)",
           "center(9, '*')", "ljust(4, '.')", "partition('l')", "removeprefix('He')", "casefold()",
           "isspace()", "istitle()", "expandtabs()", "index('l')", "isupper()", "islower()",
           "rpartition(' ')", "rjust(8)", "isalnum()", "isnumeric()", "isdecimal()", "isascii()",
           "isprintable()", "isidentifier()", "strip('Hd')", "split(none, 1)", "rsplit()",
           "splitlines(true)", "find('l', 3)", "find('l', -3, -1)", "startswith('l', 2)",
           "replace('', '-', 2)", "replace('l', 'L', -1)", "format_map({'a': 1})", "removesuffix('ld')"]
DICT_METHODS = ["items()|list", "keys()|list", "values()|list", "get('a')", "get('nope')",
                "get('nope', 'z')", "update({})", "copy()", "items()", "keys()", "pop('a')"]
LIST_METHODS = ["append(1)", "count(1)", "index(1)", "copy()", "extend([])"]


class Grammar:
    def __init__(self, random):
        self.random = random

    def pick(self, choices):
        return self.random.choice(choices)

    def string(self):
        return "'" + self.pick(STRINGS) + "'"

    def number(self):
        return self.pick(["0", "1", "2", "3", "7", "10", "1.5", "0.1", "1e3", "100", "-1", "-2.5"])

    def atom(self, depth):
        kind = self.random.random()
        if kind < 0.45:
            return self.pick(NAMES)
        if kind < 0.6:
            return self.string()
        if kind < 0.75:
            return self.number()
        if kind < 0.8:
            return self.pick(["true", "false", "none"])
        if depth <= 0:
            return self.pick(NAMES)
        if kind < 0.9:
            return "[" + ", ".join(self.expression(depth - 1) for _ in range(self.random.randrange(4))) + "]"
        if kind < 0.95:
            return "(" + ", ".join(self.expression(depth - 1) for _ in range(2)) + ")"
        return "{" + ", ".join(f"{self.string()}: {self.expression(depth - 1)}"
                               for _ in range(self.random.randrange(3))) + "}"

    def methods_of(self, text):
        if self.random.random() < 0.05:
            return METHODS + DICT_METHODS + LIST_METHODS
        if text in DICTS or text.startswith("{"):
            return DICT_METHODS
        return METHODS if text in TEXTS or text.startswith("'") else LIST_METHODS + ["nope", "upper()"]

    def postfix(self, depth):
        text = self.atom(depth)
        while self.random.random() < 0.35:
            kind = self.random.random()
            if kind < 0.3:
                text += "." + self.pick(self.methods_of(text))
            elif kind < 0.45:
                text += "." + self.pick(ATTRIBUTES)
            elif kind < 0.65:
                text += "[" + self.pick([self.number(), self.string(), "i", "-1", "0"]) + "]"
            elif text not in NAMES:
                break  # jinja2 folds constants by rules of their own
            else:
                bounds = [self.pick(["", "0", "1", "2", "-1", "-2", "5", "i"]) for _ in range(2)]
                step = self.pick(["", "", ":", ":1", ":2", ":-1", ":-2"])
                text += f"[{bounds[0]}:{bounds[1]}{step}]"
        return text

    def arithmetic(self, depth):
        """Numbers, or texts and integers, so that most operations are possible."""
        left = self.pick(["i", "zero", "neg", "f", "yes", "no", "l|length", "s.count('l')", self.number()])
        right = self.pick(["i", "neg", "f", "yes", "3", "2", "-2", "0.5", "i - 7", self.number()])
        if self.random.random() < 0.15:
            left, right = self.pick(["s", "u", "l", "'ab'"]), self.pick(["*", "+", "~"]) + " " + right
            return f"{left} {right}"
        if self.random.random() < 0.4 and depth > 0:
            right = f"({self.arithmetic(depth - 1)})"
        return f"{left} {self.pick(BINARY + ['**'])} {right}"

    def expression(self, depth=3):
        if depth <= 0:
            return self.postfix(0)
        kind = self.random.random()
        if kind < 0.25:
            return self.postfix(depth)
        if kind < 0.5:
            if self.random.random() < 0.3:
                return f"({self.arithmetic(depth)})"
            operator = self.pick(BINARY_OF_ALL if self.random.random() < 0.8 else BINARY)
            return f"{self.expression(depth - 1)} {operator} {self.expression(depth - 1)}"
        if kind < 0.65:
            return f"({self.expression(depth - 1)})|{self.pick(FILTERS)}"
        if kind < 0.72:
            return f"{self.postfix(depth - 1)}|{self.pick(FILTERS)}"
        if kind < 0.82:
            negated = self.pick(["", "", "not "])
            return f"{self.postfix(depth - 1)} is {negated}{self.pick(TESTS)}"
        if kind < 0.88:
            return self.pick(["not ", "-", "+"]) + self.postfix(depth - 1)
        if kind < 0.94:
            otherwise = self.pick([f" else {self.expression(depth - 1)}", ""])
            return f"({self.expression(depth - 1)} if {self.expression(depth - 1)}{otherwise})"
        return f"({self.expression(depth - 1)})"

    def tag(self, text):
        left, right = self.pick(["", "", "-", "+"]), self.pick(["", "", "-", "+"])
        return "{%" + left + " " + text + " " + right + "%}"

    def print(self, depth=2):
        left, right = self.pick(["", "", "-"]), self.pick(["", "", "-"])
        return "{{" + left + " " + self.expression(depth) + " " + right + "}}"

    def text(self):
        return self.pick(["", " ", "\n", "  \n  ", "x", " y ", "\n\n", "a\n  ", "{# c #}", "{#- c -#}\n",
                          "\t{# c #}\n"])

    def statement(self, depth):
        kind = self.random.random()
        body = lambda: self.block(depth - 1)  # noqa: E731
        if kind < 0.3 or depth <= 0:
            return self.print()
        if kind < 0.42:
            otherwise = self.pick(["", self.tag("else") + body(),
                                   self.tag(f"elif {self.expression(1)}") + body()])
            return self.tag(f"if {self.expression(1)}") + body() + otherwise + self.tag("endif")
        if kind < 0.62:
            return self.loop(depth, body)
        if kind < 0.74:
            target = self.pick(["v", "w", "ns.a", "v, w", "i", "s"])
            value = self.pick(["(1, 2)", "'ab'", "l[:2]"]) if "," in target else self.expression(2)
            return self.tag(f"set {target} = {value}")
        if kind < 0.79:
            filters = self.pick(["", "|upper", "|trim|length", "|replace('a', 'b')"])
            return self.tag(f"set v {filters}") + body() + self.tag("endset")
        if kind < 0.88:
            return self.macro(body)
        if kind < 0.91:
            return self.tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'title|replace(1, 2)'])}") \
                + body() + self.tag("endfilter")
        if kind < 0.95:
            return self.tag(f"with v = {self.expression(1)}, w = v") + body() + self.tag("endwith")
        if kind < 0.97:
            return self.tag("generation") + body() + self.tag("endgeneration")
        return self.tag("raw") + self.pick([" {{ x }} ", "{% if %}", "\n  a \n"]) + self.tag("endraw")

    def loop(self, depth, body):
        target = self.pick(["v", "v", "w", "v, w"])
        source = self.pick(["l", "ls", "d", "items", "range(3)", "s", "el", "missing", "'abc'"])
        if "," in target:
            source = self.pick(["pairs", "d.items()", "d|dictsort", "dd|items", "l"])
        test = self.pick(["", "", f" if {self.expression(1)}", " if loop is defined", " if not loop.first"])
        recursive = self.pick([""] * 9 + [" recursive"])
        inner = self.pick(["", "{{ loop.index }}", "{{ loop.last }}{{ loop.length }}",
                           "{{ loop.previtem }}|{{ loop.nextitem }}", "{{ loop.revindex0 }}",
                           "{{ loop.cycle('a', 'b') }}", "{{ loop.changed(v) }}", self.tag("break"),
                           self.tag(f"if {self.expression(1)}") + self.tag("continue") + self.tag("endif"),
                           "{{ loop.depth }}", self.tag("set ns.a = loop.index")])
        otherwise = self.pick(["", "", self.tag("else") + body()])
        return self.tag(f"for {target} in {source}{test}{recursive}") + body() + inner + body() \
            + otherwise + self.tag("endfor")

    def macro(self, body):
        signature, use = self.pick([
            ("m()", "m()"), ("m(v)", f"m({self.expression(1)})"), ("m(v, w=1)", "m(1, w=2)"),
            ("m(v, w=v)", "m('x')"), ("m(v)", "m()"), ("m(v)", "m(1, 2)"), ("m(v='d')", "m(q=1)"),
            ("m(v)", "m(*[1])"), ("m(v)", "m(**{'v': 2})")])
        extra = self.pick(["", "{{ varargs }}", "{{ kwargs }}", "{{ caller() }}", "{{ caller(1) }}"])
        call = "{{ " + use + " }}"
        if "caller" in extra:
            call = self.tag(self.pick(["call ", "call(v) ", "call(v=3) "]) + use) + body() + self.tag("endcall")
        return self.tag(f"macro {signature}") + body() + extra + self.tag("endmacro") + call

    def block(self, depth):
        return "".join(self.text() + self.statement(depth) for _ in range(self.random.randrange(3))) \
            + self.text()

    def template(self):
        if self.random.random() < 0.5:
            return "{{ " + self.expression(4) + " }}"
        return "{% set ns = namespace(a=1) %}" + self.block(3) + self.statement(3) + self.text()
