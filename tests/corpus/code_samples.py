"""A small file of each programming language, with the same symbols in all of them."""

from __future__ import annotations

CODE: dict[str, tuple[tuple[str, ...], str]] = {
    "python": (
        (".py", ".pyi"),
        '"""Tides."""\n\nimport os\nfrom sea import (\n    salt,\n)\n\nDEPTH = 5\n\n\nclass Store:\n'
        '    """Keeps tides."""\n\n    size = 1\n\n    # How much.\n    @property\n    def put(self):\n'
        "        def inner():\n            pass\n\n        return DEPTH\n\n    async def get(self): ...\n\n\n"
        "@cache\ndef tide(): ...\n",
    ),
    "javascript": (
        (".js", ".mjs", ".cjs", ".jsx"),
        "import a from 'a';\n\nconst DEPTH = 5;\n\n/** Keeps tides. */\nexport class Store {\n  put(x) {\n"
        "    return x;\n  }\n  get() {\n  }\n}\n\nexport const tide = async (x) => {\n  return x;\n};\n",
    ),
    "typescript": (
        (".ts", ".mts", ".cts", ".tsx"),
        "import a from 'a';\n\nconst DEPTH = 5;\n\n// Keeps tides.\nexport abstract class Store<T> {\n"
        "  put(x: T): T {\n    return x;\n  }\n  get() {\n  }\n}\n\nexport function tide(x: number): number {\n"
        "  return x;\n}\n",
    ),
    "java": (
        (".java",),
        "package sea;\n\nimport java.util.List;\n\n/** Keeps tides. */\npublic class Store<T> {\n"
        "  int DEPTH = 5;\n\n  @Override\n  public int put(int x) {\n    return x;\n  }\n\n  void get() {\n  }\n"
        "}\n\nenum tide {\n  LOW\n}\n",
    ),
    "go": (
        (".go",),
        'package sea\n\nimport "fmt"\n\nconst DEPTH = 5\n\n// Keeps tides.\ntype Store struct {\n\tsize int\n}\n'
        "\nfunc (s *Store) put(x int) int {\n\treturn x\n}\n\nfunc (s Store) get() {\n}\n\nfunc tide() {\n}\n",
    ),
    "rust": (
        (".rs",),
        "use std::io;\n\nconst DEPTH: u8 = 5;\n\n/// Keeps tides.\nimpl<T> Keep for Store<T> {\n    #[inline]\n"
        "    fn put(&self) -> u8 {\n        5\n    }\n    fn get() {\n    }\n}\n\nfn tide() {\n}\n",
    ),
    "c": (
        (".c",),
        "#include <a.h>\n\n#define DEPTH 5\n\n/* Keeps tides. */\nstruct Store {\n  int size;\n};\n\n"
        "static char *put(int x)\n{\n  return 0;\n}\n\nint get(void)\n{\n  return 0;\n}\n\nint *tide(void)\n{\n"
        "  return 0;\n}\n",
    ),
    "cpp": (
        (".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"),
        "#include <a.h>\n\nconst int DEPTH = 5;\n\n// Keeps tides.\ntemplate <class T>\nclass Store {\n"
        " public:\n  int put(int x) {\n    return x;\n  }\n};\n\nvoid Store::get() {\n}\n\nnamespace sea {\n"
        "int tide() {\n  return 1;\n}\n}\n",
    ),
    "csharp": (
        (".cs",),
        "using System;\n\n/// Keeps tides.\npublic class Store {\n  int DEPTH = 5;\n\n"
        "  public int put(int x) {\n    return x;\n  }\n  void get() {\n  }\n}\n\nenum tide {\n  Low\n}\n",
    ),
    "ruby": (
        (".rb",),
        "require 'a'\n\nDEPTH = 5\n\n# Keeps tides.\nclass Store\n  def put(x)\n    x\n  end\n\n  def self.get\n"
        "    1\n  end\nend\n\ndef tide\n  1\nend\n",
    ),
    "php": (
        (".php",),
        "<?php\nuse A\\B;\n\nconst DEPTH = 5;\n\n/** Keeps tides. */\nclass Store {\n"
        "  public function put($x) {\n    return $x;\n  }\n  function get() {\n  }\n}\n\nfunction tide() {\n"
        "  return 1;\n}\n",
    ),
    "shell": (
        (".sh", ".bash"),
        "#!/bin/sh\nDEPTH=5\n\n# Keeps tides.\nStore() {\n  echo 1\n}\n\nfunction put {\n  echo 2\n}\n\n"
        "get() {\n  echo 1\n}\n\ntide() {\n  echo 3\n}\n",
    ),
}
