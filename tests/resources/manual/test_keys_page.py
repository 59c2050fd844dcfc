"""The manual's page of keys is that of the declared commands."""

from app.commands import declared_commands
from resources.manual.write_keys import keys_page


def test_each_command_has_a_line_with_its_keys():
    lines = keys_page().split("\n")
    for command in declared_commands():
        keys = " · ".join(f"`{one}`" for one in command.keys)
        assert any(keys in line and command.tip in line for line in lines), command.id
