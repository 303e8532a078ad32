"""The root that the container recipe makes, used as an engine would start it: read-only, and by a user of its own."""

from __future__ import annotations

import json

from tools.container_recipe import Image
from tools.package_trial import CLIP, READ_ONLY, WITH_CLIPS, require_words, say
from tools.service_sandbox import IN_THE_ROOT, INSIDE, RIGHTS

VOLUME = "/var/lib/edge-asr"


def try_image(image: Image) -> None:
    """``transcribe`` and the default command hear the right words.

    Raises:
        Failed: They do not.
    """
    root = image.root
    volume = ["--bind", f"{root.folder}{VOLUME}", VOLUME]
    options = [*READ_ONLY, *volume, *WITH_CLIPS]
    whoami = ["setpriv", f"--reuid={image.user}", f"--regid={image.user}", "--init-groups"]
    transcribe = [*whoami, *image.entrypoint, "transcribe", "--model", "starter-en", CLIP]
    require_words(root.run(*transcribe, options=options, environment=image.environment))
    say(root, "transcribe in the container's root: the right words")
    told = {
        "command": [*image.entrypoint, *image.command],
        "user": int(image.user),
        "groups": ["audio"],
        "umask": 0o022,
        "environment": image.environment,
        "client": [*image.entrypoint, "client", "http://127.0.0.1:8765", CLIP],
    }
    heard = root.run(
        "python3", IN_THE_ROOT, json.dumps(told), options=[*RIGHTS, *options, "--ro-bind", str(INSIDE), IN_THE_ROOT]
    )
    require_words(heard)
    say(root, f"serve as user {image.user} with a read-only root, and a client: the right words")
