"""AWS's own examples of signatures.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html
Source: https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4
"""

from __future__ import annotations

import hashlib

import pytest

from tidemark.glue_service.access.head import head_of
from tidemark.glue_service.access.signature_v2 import signatures_v2
from tidemark.glue_service.access.signature_v4 import (
    EMPTY,
    ChunkSignatures,
    Scope,
    canonical_requests,
    signature,
    signing_key,
)

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # noqa: S105 (of AWS's pages)
SECRET_OF_SUITE = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # noqa: S105
TIME, SCOPE = "20130524T000000Z", Scope("20130524", "us-east-1", "s3")
HOST = {"host": "examplebucket.s3.amazonaws.com"}
BODY_DIGEST = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
CHUNKS = (b"a" * 65536, b"a" * 1024, b"")


@pytest.mark.parametrize(
    ("method", "uri", "headers", "payload", "expected"),
    [
        (
            "GET",
            "/test.txt",
            {**HOST, "range": "bytes=0-9"},
            EMPTY,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test$file.text",
            {
                **HOST,
                "date": "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            },
            BODY_DIGEST,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET",
            "/?lifecycle",
            HOST,
            EMPTY,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "GET",
            "/?max-keys=2&prefix=J",
            HOST,
            EMPTY,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
        (
            "PUT",
            "/examplebucket/chunkObject.txt",
            {
                "host": "s3.amazonaws.com",
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
                "content-encoding": "aws-chunked",
                "x-amz-decoded-content-length": "66560",
                "content-length": "66824",
            },
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
            "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
        ),
    ],
)
def test_requests_to_s3(method, uri, headers, payload, expected):
    sent = {**headers, "x-amz-content-sha256": payload, "x-amz-date": TIME}

    canonical, *_ = canonical_requests(head_of(method, uri, sent), "s3", sorted(sent), payload)

    assert signature(signing_key(SECRET, SCOPE), TIME, SCOPE, canonical) == expected


def test_a_presigned_url():
    uri = (
        "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F"
        "20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
        "&X-Amz-SignedHeaders=host&X-Amz-Signature=0"
    )

    canonical, *_ = canonical_requests(
        head_of("GET", uri, HOST), "s3", ["host"], "UNSIGNED-PAYLOAD"
    )

    assert signature(signing_key(SECRET, SCOPE), TIME, SCOPE, canonical) == (
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (
            "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
            (
                "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
            ),
        ),
        (
            "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
            (
                "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
            ),
        ),
    ],
)
def test_chunks_and_what_follows_them(seed, expected):
    chunks = ChunkSignatures(signing_key(SECRET, SCOPE), TIME, SCOPE, seed)

    for chunk, signed in zip(CHUNKS, expected, strict=True):
        assert chunks.is_chunk(hashlib.sha256(chunk).hexdigest(), signed)
    right = "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"
    is_of_trailer = chunks.is_trailer(b"x-amz-checksum-crc32c:sOO8/Q==\n", right)
    assert is_of_trailer == seed.startswith("106e")


@pytest.mark.parametrize(
    ("uri", "headers", "expected"),
    [
        ("/", {}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (
            "/example1/example2/../..",
            {},
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "/example space/",
            {},
            "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
        ),
        (
            "/\u00e1\u0088\u00b4",
            {},
            "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
        ),
        (
            "/?Param2=value2&Param1=value1",
            {},
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            {},
            "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
        ),
        (
            "/",
            {"my-header1": " value1", "my-header2": ' "a   b   c"'},
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
    ],
)
def test_requests_of_the_suite(uri, headers, expected):
    scope = Scope("20150830", "us-east-1", "service")
    sent = {"host": "example.amazonaws.com", **headers, "x-amz-date": "20150830T123600Z"}

    canonical, *_ = canonical_requests(head_of("GET", uri, sent), "service", sorted(sent), EMPTY)

    key = signing_key(SECRET_OF_SUITE, scope)
    assert signature(key, "20150830T123600Z", scope, canonical) == expected


def test_a_request_of_version_2():
    head = head_of("GET", "/awsexamplebucket1/photos/puppy.jpg", {"host": "s3.amazonaws.com"})

    assert signatures_v2(SECRET, head, "Tue, 27 Mar 2007 19:36:42 +0000") == [
        "qgk2+6Sv9/oM7G3qLEjTH1a1l1g="
    ]
