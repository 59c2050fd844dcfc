"""A generation as one file that replays itself in a browser.

`work` is what is shared of a document · `telling` makes data of it · `page` makes a page of the data.
"""
