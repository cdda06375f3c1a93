"""The sources that are asked: GitHub's notifications and a mail folder (SPEC S1, S3, §11, §12)."""

import pytest

from bot.errors import ConfigError, NotAllowedError

LEAST = 'escalate_to = "U0123456789"\n'
MAIL = '[mail]\nhost = "imap.example.com"\nuser = "bot@example.com"\n'
TOKEN = "made-up-github-5"


def test_without_a_token_or_a_host_nothing_is_asked(place):
    config = place.load(LEAST)
    assert (config.github_inbox, config.mail_inbox) == (None, None)
    assert config.mailbox.source == "email:inbox"


def test_a_token_polls_the_inbox_it_opens(place):
    """S1: a classic token; an own server is a base address."""
    config = place.load(LEAST + '[github]\napi_url = "https://github.example.com/api/v3"\n', GITHUB_TOKEN=TOKEN)
    inbox = config.github_inbox
    assert (inbox.api_url, inbox.token.get_secret_value()) == ("https://github.example.com/api/v3/", TOKEN)
    assert TOKEN in {one.get_secret_value() for one in config.secrets}
    assert TOKEN not in repr(config)


def test_polling_can_be_switched_off(place):
    assert place.load(LEAST + "[github]\npoll = false\n", GITHUB_TOKEN=TOKEN).github_inbox is None


@pytest.mark.parametrize("base", ["ftp://host/", "host", "https://name:word@host/", "https://host/?a=b"])
def test_a_base_that_is_none_is_refused(place, base):
    [(key, words)] = place.findings(LEAST + f'[github]\napi_url = "{base}"\n')
    assert key == "github.api_url"
    assert "such as https://api.github.com/" in words


def test_a_folder_knows_who_of_ours_is_who(place):
    """S3: addresses in any spelling."""
    config = place.load(
        LEAST + MAIL + 'name = "support"\naddresses = { "Pip@Example.com" = "pip" }\n', MAIL_PASSWORD="x"
    )
    assert config.mail_inbox.mailbox.addresses == {"pip@example.com": "pip"}
    assert config.mail_inbox.mailbox.source == "email:support"


def test_a_password_may_have_spaces_and_any_letters(place):
    """Unlike a token, people choose it."""
    config = place.load(LEAST + MAIL, MAIL_PASSWORD="korrekt Pferd Bätterie")
    assert config.mail_inbox.account.secret() == "korrekt Pferd Bätterie"
    assert "Pferd" not in repr(config)
    assert "korrekt Pferd Bätterie" in {one.get_secret_value() for one in config.secrets}


def test_an_access_token_is_read_anew_at_each_sign_in(place):
    """S3: OAuth tokens live for an hour; who renews them writes the file."""
    file = place.folder / "token"
    file.write_text("first\n")
    account = place.load(LEAST + MAIL, MAIL_PASSWORD_FILE=str(file)).mail_inbox.account
    assert account.secret() == "first"
    file.write_text("second\n")
    assert account.secret() == "second"
    file.unlink()
    with pytest.raises(ConfigError, match="MAIL_PASSWORD_FILE"):
        account.secret()


def test_a_host_without_a_password_is_named_at_start(place):
    """§11: a missing secret is named, with its fix; exit 4."""
    with pytest.raises(NotAllowedError, match="MAIL_PASSWORD is not") as refused:
        place.load(LEAST + MAIL).mail_inbox.require_password()
    assert "MAIL_PASSWORD_FILE" in refused.value.hint


@pytest.mark.parametrize(
    ("mail", "key"),
    [
        ('host = "imap.example.com"', "mail.user"),
        ('host = "imap.example.com"\nuser = "bot"\nsecurity = "none"', "mail.security"),
        ('[mail.addresses]\n"a@x.example" = "a"\n"A@x.example" = "b"', "mail.addresses.A@x.example"),
        ('addresses = { "nobody" = "a" }', "mail.addresses.nobody"),
        ('name = "two words"', "mail.name"),
    ],
)
def test_what_cannot_be_is_refused(place, mail, key):
    """§11: every fault with its key."""
    [(found, _)] = place.findings(LEAST + ("" if mail.startswith("[") else "[mail]\n") + mail + "\n")
    assert found.replace('"', "") == key


def test_a_server_on_this_machine_may_do_without_tls(place):
    text = '[mail]\nhost = "127.0.0.1"\nuser = "bot"\nsecurity = "none"\n'
    assert place.load(LEAST + text).mail_inbox.account.security == "none"
