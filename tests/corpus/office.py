# ruff: noqa: E501 - lines of XML
"""Small real files of formats that are archives, messages or notebooks; the last two by independent writers."""

from __future__ import annotations

import io
import mailbox as boxes
import tempfile
import zipfile
from email.message import EmailMessage
from pathlib import Path

_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_CORE = (
    '<c xmlns:dc="x" xmlns:t="y"><dc:title>Old Harbour</dc:title><dc:creator>Ada Quay</dc:creator>'
    "<t:created>1970-01-02T10:00:00Z</t:created></c>"
)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_part(whole: bytes, name: str, content: bytes) -> bytes:
    """The same archive with one part replaced."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts: dict[str, str | bytes] = {each: archive.read(each) for each in archive.namelist()}
    return zipped({**parts, name: content})


def _relations(**targets: str) -> str:
    return "<r>" + "".join(f'<Relationship Id="{key}" Target="{to}"/>' for key, to in targets.items()) + "</r>"


def xlsx() -> bytes:
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Depth</t></is></c>'
        '<c r="C1" t="str"><v>Opened</v></c><c r="D1" t="str"><v>Wet</v></c></row>'
        '<row r="3"><c r="A3" t="s"><v>1</v></c><c r="C3" s="1"><v>25570.5</v></c><c r="D3" t="b"><v>1</v></c></row>'
        '<row r="4"><c r="A4" t="str"><v>West</v></c><c r="B4"><v>0.10000000000000001</v></c><c r="C4" s="2"><v>5</v></c></row>'
    )
    other = '<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="B2"><v>2</v></c></row>'
    return zipped({
        "xl/workbook.xml": f'<workbook {_S} {_R}><sheets><sheet name="Quays" r:id="r1"/><sheet name="Numbers" r:id="r2"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(r1="worksheets/sheet1.xml", r2="/xl/worksheets/sheet2.xml"),
        "xl/sharedStrings.xml": f"<sst {_S}><si><t>Place</t></si><si><r><t>East </t></r><r><t>quay</t></r></si></sst>",
        "xl/styles.xml": f'<styleSheet {_S}><numFmts><numFmt numFmtId="164" formatCode="0.0 &quot;days&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="164"/></cellXfs></styleSheet>',
        "xl/worksheets/sheet1.xml": f"<worksheet {_S}><sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/sheet2.xml": f"<worksheet {_S}><sheetData>{other}</sheetData></worksheet>",
        "docProps/core.xml": _CORE,
    })  # fmt: skip


def shape(text: str, kind: str = "") -> str:
    place = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def pptx() -> bytes:
    cells = "".join(
        f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>" for text in ("East", "5 m")
    )
    table = f"<p:graphicFrame><a:tbl><a:tr>{cells}</a:tr></a:tbl></p:graphicFrame>"
    return zipped({
        "ppt/presentation.xml": f'<p:presentation {_P} {_R}><p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst>'
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(a="slides/slide1.xml", b="slides/slide2.xml"),
        "ppt/slides/slide1.xml": f"<p:sld {_P}>{shape('Last words')}{table}{shape('7', 'sldNum')}</p:sld>",
        "ppt/slides/slide2.xml": f"<p:sld {_P}>{shape('First quay' + chr(10) + 'Second quay')}{shape('History', 'title')}</p:sld>",
        "ppt/slides/_rels/slide2.xml.rels": _relations(n="../notesSlides/notesSlide1.xml"),
        "ppt/notesSlides/notesSlide1.xml": f"<p:notes {_P}>{shape('Speak slowly.', 'body')}</p:notes>",
        "docProps/core.xml": _CORE,
    })  # fmt: skip


def epub() -> bytes:
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package><metadata xmlns:dc="x"><dc:title>Old Harbour</dc:title><dc:creator>Ada Quay</dc:creator>'
        '<dc:date>1970-01-02</dc:date></metadata><manifest><item id="one" href="a%20b.xhtml"/><item id="two" href="t/c.xhtml"/>'
        '</manifest><spine><itemref idref="two"/><itemref idref="one"/><itemref idref="none"/></spine></package>',
        "OEBPS/a b.xhtml": "<html><body><p>No title here.</p></body></html>",
        "OEBPS/t/c.xhtml": "<html><head><title>History</title></head><body><h1>History</h1><p>A quiet place near "
        '<a href="Tidal_range.xhtml">spring tides</a>.</p><h2>Quays</h2><p>First.</p></body></html>',
    })  # fmt: skip


def made_message(subject: str) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ada Quay <ada@example.org>", "Bé <b@example.org>"
    message["Date"] = "Fri, 02 Jan 1970 10:00:00 +0000"
    message.set_content(
        "A quiet place é.\n\nYes.\n\nOn 1 Jan 1970 Bé wrote:\n> Is it quiet?\n\nFrom here on.\n-- \nAda\n"
    )
    return message


def message() -> bytes:
    whole = made_message("Old Harbour")
    whole.add_alternative("<p>Not this.</p>", subtype="html")
    whole.add_attachment(b"\x00", maintype="image", subtype="png", filename="tide.png")
    return bytes(whole)


def mailbox() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        box = boxes.mbox(Path(folder) / "box")
        for subject in ("Old Harbour", "Second"):
            box.add(made_message(subject))
        box.close()
        return (Path(folder) / "box").read_bytes()


def notebook() -> bytes:
    from nbformat import v4

    cells = [
        v4.new_markdown_cell("# Old Harbour\n\nA *quiet* place, see [quay](quay.md)."),
        v4.new_code_cell("x = 5\n\nprint(x)", outputs=[v4.new_output("stream", text="5\n" * 30)]),
        v4.new_markdown_cell("# Second\n\n## History\n\nMore."),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell{number}"
    return str(v4.writes(v4.new_notebook(cells=cells))).encode()
