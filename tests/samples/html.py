"""Pages as a reader sees them."""

from html.parser import HTMLParser

VOID = {"br", "input", "meta", "wbr", "path", "circle", "use"}


class Page(HTMLParser):
    """Tags, attributes and texts of a page; refuses tags that are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.open, self.texts = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        self.open += [tag] * (tag not in VOID)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def everything(self):
        return " ".join([*self.texts, *(str(value) for _, value in self.attributes)])
