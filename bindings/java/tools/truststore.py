"""Writes the certificates that the system trusts as a key store of Java: truststore.py FILE.

A Java of the Python index trusts only its own certificates. SSL_CERT_FILE names those of the system, as for OpenSSL.
"""

import hashlib
import os
import re
import ssl
import struct
import sys
from pathlib import Path

PEM = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
PASSWORD = "changeit"  # that of every Java


def counted(data, form):
    return struct.pack(form, len(data)) + data


def entry(name, certificate):
    """Returns a trusted certificate of the format JKS: a tag, the name, a date, the type and the certificate."""
    tag, date = struct.pack(">I", 2), bytes(8)
    return tag + counted(name.encode(), ">H") + date + counted(b"X.509", ">H") + counted(certificate, ">I")


def main(path):
    system = Path(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"))
    certificates = [ssl.PEM_cert_to_DER_cert(pem) for pem in PEM.findall(system.read_text())]
    store = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    store += b"".join(entry(str(number), certificate) for number, certificate in enumerate(certificates))
    seal = hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + store)
    Path(path).write_bytes(store + seal.digest())


if __name__ == "__main__":
    main(*sys.argv[1:])
