"""A model in a folder on its way to S3, on the local AWS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from lmi_constructs.findings import LmiError
from lmi_constructs.operations import stage
from lmi_constructs.operations.aws import AwsError, NoAnswerError, NotThereError
from lmi_constructs.operations.staging import upload as uploading
from lmi_constructs.operations.staging.selection import select
from tests.operations.support import (
    FIRST,
    TARGET,
    TOKENIZER,
    adapter_files,
    fresh,
    keys,
    model_files,
    refusing,
    safetensors,
    spied,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lmi_constructs.local import LocalAws


def test_copies_a_folder_and_a_second_run_uploads_nothing(s3: Any, folder: Path) -> None:
    first = stage(folder, TARGET, client=s3)
    assert keys(s3) == {f"llama/{name}" for name in model_files()}
    assert (first.is_complete, len(first.uploaded), first.findings) == (True, 6, ())
    calls = spied(s3, "PutObject")
    second = stage(folder, TARGET, client=s3)
    assert (calls, second.uploaded, len(second.kept)) == ([], (), 6)
    assert second.is_complete


def test_the_index_follows_the_weights_and_config_json_is_last(s3: Any, folder: Path) -> None:
    write(folder / "adapters/legal", adapter_files())
    calls = spied(s3, "PutObject")
    stage(folder, TARGET, client=s3)
    order = [call["Key"].removeprefix("llama/") for call in calls]
    assert order[-1] == "config.json"
    assert set(order[-3:-1]) == {
        "model.safetensors.index.json",
        "adapters/legal/adapter_config.json",
    }


def test_s3_is_given_the_checksum_of_every_file(s3: Any, folder: Path) -> None:
    calls = spied(s3, "PutObject")
    stage(folder, TARGET, client=s3)
    assert {call["ChecksumAlgorithm"] for call in calls} == {"SHA256"}
    head = s3.head_object(Bucket="models", Key=f"llama/{FIRST}", ChecksumMode="ENABLED")
    assert head["Metadata"]["lmi-sha256"] == uploading.digest(folder / FIRST)
    assert head["ChecksumSHA256"]


def test_large_files_go_in_parts_and_are_recognized_again(
    s3: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "_PART_BYTES", 5 * 1024 * 1024)
    (folder / FIRST).write_bytes(safetensors(b"x" * (11 * 1024 * 1024)))
    parts = spied(s3, "UploadPart")
    sent: list[int] = []
    stage(folder, TARGET, client=s3, on_progress=sent.append)
    assert len(parts) == 3
    assert sum(sent) == sum(path.stat().st_size for path in folder.iterdir())
    assert stage(folder, TARGET, client=s3).uploaded == ()


def test_a_file_of_the_same_size_and_other_content_is_uploaded_again(s3: Any, folder: Path) -> None:
    stage(folder, TARGET, client=s3)
    (folder / "tokenizer.json").write_bytes(TOKENIZER.replace(b"BPE", b"BPF"))
    assert stage(folder, TARGET, client=s3).uploaded == ("tokenizer.json",)


def test_an_interrupted_upload_does_not_look_complete_and_is_resumed(
    s3: Any, aws: LocalAws, folder: Path
) -> None:
    broken = fresh(aws)
    refusing(broken, "InternalError", "PutObject", key="tokenizer.json")
    with pytest.raises(AwsError):
        stage(folder, TARGET, client=broken)
    assert "llama/config.json" not in keys(s3)
    report = stage(folder, TARGET, client=s3)
    assert report.is_complete
    assert "config.json" in report.uploaded


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("AccessDenied", NoAnswerError, "allow s3:PutObject"),
        ("SlowDown", NoAnswerError, "again in a while"),
        ("ExpiredToken", NoAnswerError, "sign in"),
        ("NoSuchBucket", NotThereError, "check the name"),
        ("KMS.NotFoundException", AwsError, "name a KMS key that exists"),
    ],
)
def test_what_s3_refuses_says_what_to_do(
    s3: Any, folder: Path, code: str, kind: type[AwsError], advice: str
) -> None:
    refusing(s3, code, "PutObject")
    with pytest.raises(kind, match=advice):
        stage(folder, TARGET, client=s3)


def test_a_denial_names_the_action_that_is_lacking(s3: Any, folder: Path) -> None:
    words = "User: arn:aws:iam::1:user/me is not authorized to perform: kms:GenerateDataKey on x"

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": words}}, "PutObject")

    s3.meta.events.register("provide-client-params.s3.PutObject", refuse)
    with pytest.raises(NoAnswerError, match="allow kms:GenerateDataKey"):
        stage(folder, TARGET, client=s3)


def test_who_may_not_list_the_bucket_is_told_so(s3: Any, folder: Path) -> None:
    refusing(s3, "AccessDenied", "ListObjectsV2")
    with pytest.raises(NoAnswerError, match="allow s3:ListBucket"):
        stage(folder, TARGET, client=s3)


def test_weights_of_another_model_are_never_mixed(s3: Any, folder: Path) -> None:
    stage(folder, TARGET, client=s3)
    (folder / FIRST).write_bytes(safetensors(b"another size"))
    calls = spied(s3, "PutObject")
    with pytest.raises(LmiError, match="holds weights of another model"):
        stage(folder, TARGET, client=s3)
    s3.put_object(Bucket="models", Key="other/old.safetensors", Body=safetensors())
    with pytest.raises(LmiError, match=r"such as old\.safetensors"):
        stage(folder, "s3://models/other/", client=s3)
    assert [call["Key"] for call in calls] == ["other/old.safetensors"]


def test_weights_trained_on_are_refused_though_they_have_the_same_size(
    s3: Any, folder: Path
) -> None:
    stage(folder, TARGET, client=s3)
    (folder / FIRST).write_bytes(safetensors(b"\4\3\2\1"))
    calls = spied(s3, "PutObject")
    with pytest.raises(LmiError, match=f"weights of another model, such as {FIRST}"):
        stage(folder, TARGET, client=s3)
    assert calls == []


def test_weights_that_somebody_else_brought_are_uploaded_again(s3: Any, folder: Path) -> None:
    """Whether they are the same cannot be told, and nothing but their size speaks against it."""
    for name, content in model_files().items():
        s3.put_object(Bucket="models", Key=f"llama/{name}", Body=content)
    assert len(stage(folder, TARGET, client=s3).uploaded) == 6
    assert stage(folder, TARGET, client=s3).uploaded == ()


def test_a_dry_run_uploads_nothing_and_lists_all(s3: Any, folder: Path) -> None:
    report = stage(folder, TARGET, client=s3, dry_run=True)
    assert keys(s3) == set()
    assert set(report.uploaded) == set(model_files())
    assert not report.is_complete


def test_objects_are_encrypted_with_the_key_also_if_they_were_there_without(
    s3: Any, folder: Path
) -> None:
    stage(folder, TARGET, client=s3)
    report = stage(folder, TARGET, client=s3, kms_key="alias/models")
    assert len(report.uploaded) == 6
    head = s3.head_object(Bucket="models", Key="llama/config.json")
    assert head["ServerSideEncryption"] == "aws:kms"
    assert stage(folder, TARGET, client=s3, kms_key="alias/models").uploaded == ()


def test_adapters_and_settings_go_to_their_places(s3: Any, folder: Path, tmp_path: Path) -> None:
    adapter = write(tmp_path / "lora", {**adapter_files(), "optimizer.pt": b"x", ".git/HEAD": b"x"})
    settings = tmp_path / "mine.properties"
    settings.write_text("option.enable_lora=true\n")
    report = stage(
        folder, TARGET, client=s3, adapters={"legal": adapter}, serving_properties=settings
    )
    assert keys(s3) - {f"llama/{name}" for name in model_files()} == {
        "llama/serving.properties",
        "llama/adapters/legal/adapter_config.json",
        "llama/adapters/legal/adapter_model.safetensors",
    }
    assert report.left_out == {"adapters/legal/optimizer.pt": "left from training"}


def test_takes_links_odd_names_and_listings_of_many_pages(s3: Any, folder: Path) -> None:
    real = folder.parent / "blob"
    real.write_bytes((folder / FIRST).read_bytes())
    (folder / FIRST).unlink()
    (folder / FIRST).symlink_to(real)
    (folder / "templates").mkdir()
    (folder / "templates" / "circle").symlink_to(folder)
    (folder / "ein Text+ü&#%.txt").write_text("x")
    for number in range(9):
        (folder / "templates" / f"{number}.txt").write_text(str(number))
    s3.meta.events.register(
        "provide-client-params.s3.ListObjectsV2", lambda params, **_: params.update(MaxKeys=2)
    )
    pages = spied(s3, "ListObjectsV2")
    report = stage(folder, TARGET, client=s3)
    assert len(pages) > 5
    assert report.is_complete
    assert {"llama/ein Text+ü&#%.txt", f"llama/{FIRST}", "llama/templates/8.txt"} <= keys(s3)
    assert stage(folder, TARGET, client=s3).uploaded == ()


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (
            {"a.safetensors", "a.bin", "a.gguf", "a.pth", "config.json"},
            {"a.safetensors", "config.json"},
        ),
        ({"pytorch_model.bin", "tf_model.h5", "flax_model.msgpack"}, {"pytorch_model.bin"}),
        ({"a-Q4.gguf"}, {"a-Q4.gguf"}),
        ({"consolidated.safetensors", "model.safetensors"}, {"model.safetensors"}),
        ({"consolidated.safetensors", "tekken.json"}, {"consolidated.safetensors", "tekken.json"}),
        ({"original/consolidated.00.pth", "model.safetensors"}, {"model.safetensors"}),
        (
            {"model.safetensors", "pytorch_model.bin.index.json", "model.safetensors.index.json"},
            {"model.safetensors", "model.safetensors.index.json"},
        ),
        ({".gitattributes", ".cache/x", "a/.git/x", "training_args.bin"}, set()),
        ({"onnx/model.onnx", "1_Pooling/config.json"}, {"1_Pooling/config.json"}),
        (
            {"model.safetensors", "adapters/a/adapter_model.bin", "adapters/a/adapter_config.json"},
            {"model.safetensors", "adapters/a/adapter_model.bin", "adapters/a/adapter_config.json"},
        ),
    ],
)
def test_takes_one_format_of_weights_and_no_ballast(names: set[str], taken: set[str]) -> None:
    found, left_out = select(names)
    assert set(found) == taken
    assert set(left_out) == names - taken
    assert all(left_out.values())


@pytest.mark.parametrize(
    ("destination", "message"),
    [
        ("s3://models/llama", "write s3://models/llama/"),
        ("s3://models/", "write s3://models/PREFIX/"),
        ("s3://models//llama/", "write s3://models/llama/"),
        ("s3://models", "write s3://models/PREFIX/"),
        ("s3://My_Models/llama/", "'My_Models' is no name of a bucket"),
        ("s3:///llama/", "write s3://BUCKET/PREFIX/"),
        ("models/llama/", "write s3://BUCKET/PREFIX/"),
        ("https://models.s3.amazonaws.com/llama/", "write s3://BUCKET/PREFIX/"),
    ],
)
def test_refuses_what_is_no_prefix(folder: Path, destination: str, message: str) -> None:
    with pytest.raises(LmiError, match=message):
        stage(folder, destination, client=None)


def test_refuses_sources_that_are_no_model(s3: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    file = tmp_path / "model.tar.gz"
    file.write_bytes(b"x")
    broken = write(tmp_path / "broken", model_files())
    (broken / "link.json").symlink_to(tmp_path / "nowhere")
    partial = write(tmp_path / "partial", model_files())
    (partial / FIRST).unlink()
    for source, message in (
        (tmp_path / "empty", "holds no files"),
        (tmp_path / "absent", "does not exist"),
        (file, "is a file"),
        (broken, "is a link to a file that does not exist"),
        (partial, f"are missing: {FIRST}"),
        ("", "the source is empty"),
        (write(tmp_path / "lora", adapter_files()), "is a LoRA adapter, not a model"),
        (write(tmp_path / "config", {"config.json": b"{}"}), "no weights are in the root"),
    ):
        with pytest.raises(LmiError, match=message):
            stage(source, TARGET, client=s3)
    with pytest.raises(LmiError, match=r"has no adapter_config\.json"):
        stage(partial, TARGET, client=s3, adapters={"a": tmp_path / "empty"})
    with pytest.raises(LmiError, match="no name of a folder"):
        stage(partial, TARGET, client=s3, adapters={"../a": tmp_path / "empty"})
    assert keys(s3) == set()


def test_a_bucket_that_is_not_there_is_said_so(s3: Any, folder: Path) -> None:
    with pytest.raises(NotThereError, match="bucket absent does not exist"):
        stage(folder, "s3://absent/llama/", client=s3)


def test_a_key_that_is_too_long_is_refused_before_anything_is_sent(s3: Any, folder: Path) -> None:
    calls = spied(s3, "PutObject")
    with pytest.raises(LmiError, match="makes a key of more than 1024 bytes"):
        stage(folder, f"s3://models/{'x' * 1010}/", client=s3)
    assert calls == []


@pytest.mark.parametrize("bucket", ["my..models", "192.168.1.1", "my_models", "ab"])
def test_a_name_that_no_bucket_has_is_refused(folder: Path, bucket: str) -> None:
    with pytest.raises(LmiError, match="is no name of a bucket"):
        stage(folder, f"s3://{bucket}/x/")
