"""`agentrl serve` beyond this machine: encrypted with a token, or with a warning."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

import gymnasium as gym
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentrl.core.errors import ConfigError, SessionFault
from agentrl.serve.remote import RemoteEnv
from tests.serve.test_env_server import TOKEN
from tests.serve.test_remote import LAKE, REMOTE, process, same


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """The files of a certificate for 127.0.0.1 that signs itself, and of its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    signed = made.add_extension(address, critical=False).sign(key, hashes.SHA256())
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return str(files[0]), str(files[1])


def test_with_a_certificate_all_travels_encrypted(certificate, monkeypatch) -> None:
    options = ["--tls-cert", certificate[0], "--tls-key", certificate[1], "--host", "0.0.0.0"]
    with process(LAKE, *options, AGENTRL_SERVE_TOKEN=TOKEN) as (server, url):
        assert url.startswith("wss://")
        url = url.replace("0.0.0.0", "127.0.0.1")
        with pytest.raises(SessionFault, match="certificate verify failed"):
            RemoteEnv(url, LAKE, token=TOKEN)
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        with pytest.raises(ConfigError, match="the token must be the server's"):
            RemoteEnv(url, LAKE)
        monkeypatch.setenv("AGENTRL_SERVE_TOKEN", TOKEN)
        here, there = gym.make(LAKE), gym.make(REMOTE, url=url, env_id=LAKE)
        assert same(here.reset(seed=3), there.reset(seed=3)) and same(here.step("Down"), there.step("Down"))
        there.close()
        with pytest.raises(SessionFault):
            RemoteEnv(url.replace("wss", "ws"), LAKE)
        server.terminate()
        assert "warning" not in server.stderr.read().decode()


def test_without_one_a_warning_says_so_and_without_a_token_nothing_is_served(agentrl_cli) -> None:
    with process(LAKE, "--host", "0.0.0.0", AGENTRL_SERVE_TOKEN=TOKEN) as (server, url):
        assert url.startswith("ws://0.0.0.0:")
        server.terminate()
        assert "travel unencrypted" in server.stderr.read().decode()
    done = agentrl_cli("serve", LAKE, "--host", "0.0.0.0", "--port", "0")
    assert done.status == 2 and "host must be a loopback address such as 127.0.0.1 without a token" in done.err
