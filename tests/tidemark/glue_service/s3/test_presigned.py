"""URLs that are signed for those who have no credentials."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from tests.tidemark.glue_service.s3.conftest import put


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_is_read_until_its_time_is_over(port, bucket, version):
    s3 = port.client("s3", signature_version=version)
    put(s3, bucket, "a", body=b"1")
    query = {"Bucket": bucket, "Key": "a", "ResponseContentType": "text/x"}
    url = s3.generate_presigned_url("get_object", Params=query, ExpiresIn=60)

    with urllib.request.urlopen(url) as answer:  # noqa: S310 (our own)
        assert (answer.read(), answer.headers["Content-Type"]) == (b"1", "text/x")
    old = s3.generate_presigned_url("get_object", Params=query, ExpiresIn=-1)
    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(old)  # noqa: S310
    caught.value.close()
