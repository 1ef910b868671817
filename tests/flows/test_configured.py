"""A command tells whether a Prefect API is configured as Prefect itself does, and mostly without importing it."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.proof
URL = "http://127.0.0.1:9/api"
PROFILE = f'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{URL}"\n'
CASES = {  # files below the home folder (~) or the working folder, variables, and whether an API is configured
    "nothing": ({}, {}, False),
    "a variable": ({}, {"PREFECT_API_URL": URL}, True),
    "a variable in small letters": ({}, {"prefect_api_url": URL}, True),
    "the profile in use": ({"~/.prefect/profiles.toml": PROFILE}, {}, True),
    "a profile elsewhere": ({"profiles.toml": PROFILE}, {"PREFECT_PROFILES_PATH": "profiles.toml"}, True),
    "another home of Prefect": ({"~/here/profiles.toml": PROFILE}, {"PREFECT_HOME": "~/here"}, True),
    "an empty profile": ({"~/.prefect/profiles.toml": 'active = "mine"\n[profiles.mine]\n'}, {}, False),
    "a profile that Prefect ships": ({}, {"PREFECT_PROFILE": "local"}, True),
    "a variable of all that is said of the API": ({}, {"PREFECT_API": f'{{"url": "{URL}"}}'}, True),
    "prefect.toml": ({"prefect.toml": f'[api]\nurl = "{URL}"\n'}, {}, True),
    ".env": ({".env": f"prefect_api_url={URL}\n"}, {}, True),
    ".env of others": ({".env": "COLOUR=blue\n"}, {}, False),
    "pyproject.toml": ({"pyproject.toml": f'[tool.prefect.api]\nurl = "{URL}"\n'}, {}, True),
    "a project that needs Prefect": ({"pyproject.toml": '[project]\ndependencies = ["prefect"]\n'}, {}, False),
}
CHEAP = ("nothing", ".env of others", "a project that needs Prefect")
CODE = """
import sys
from synthrisk.flows.orchestration.server import is_configured
told, cheap = is_configured(), "prefect" not in sys.modules
from prefect.settings import PREFECT_API_URL
print(told, cheap, bool(PREFECT_API_URL.value()))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):

    def started(files, variables):
        home, place = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("place")
        for name, text in files.items():
            file = home / name[2:] if name.startswith("~") else place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        known = {name: value for name, value in os.environ.items() if not name.upper().startswith("PREFECT_")}
        known |= {"HOME": str(home)} | {name: value.replace("~", str(home)) for name, value in variables.items()}
        return subprocess.Popen([sys.executable, "-c", CODE], cwd=place, env=known, stdout=subprocess.PIPE, text=True)

    running = {name: started(*case[:2]) for name, case in CASES.items()}
    return {name: process.communicate()[0].split() for name, process in running.items()}


@pytest.mark.parametrize("name", CASES)
def test_it_says_what_prefect_says(name, told):
    said, cheap, prefects = told[name]
    assert said == prefects == str(CASES[name][2])
    assert cheap == str(name in CHEAP)


def test_what_cannot_be_read_is_asked_of_prefect(tmp_path, monkeypatch):
    from synthrisk.flows.orchestration.server import _hints

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [each for each in os.environ if each.upper().startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    assert not any(_hints())
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    assert any(_hints())
    (tmp_path / ".env").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool")
    assert any(_hints())
