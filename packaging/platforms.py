"""The platforms of archives and wheels, and the jar of each: target/gatling-llm.jar with the native libraries of that platform only."""
import platform
import re
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JAR = ROOT / "target/gatling-llm.jar"

# name: the tag of its wheels, how its native libraries are named
PLATFORMS = {
    "linux-x64": ("manylinux_2_17_x86_64", r"native/lib/linux-x86_64/|META-INF/native/lib(netty_tcnative_linux|netty_transport)\w*_x86_64\.so"),
    "linux-arm64": ("manylinux_2_17_aarch64", r"native/lib/linux-aarch64/|META-INF/native/lib(netty_tcnative_linux|netty_transport)\w*_aarch_64\.so"),
    "macos-x64": ("macosx_10_9_x86_64", r"META-INF/native/lib\w*(osx|macos)_x86_64\.jnilib"),
    "macos-arm64": ("macosx_11_0_arm64", r"native/lib/osx-aarch64/|META-INF/native/lib\w*(osx|macos)_aarch_64\.jnilib"),
    "windows-x64": ("win_amd64", r"native/lib/win-x86_64/|META-INF/native/\w*windows_x86_64\.dll"),
}
NATIVE = re.compile(r"native/lib/.*|META-INF/native/.*\.(so|jnilib|dll)")
# Without it TLS is slower; every platform has one.
TLS = re.compile(r"META-INF/native/(lib)?netty_tcnative")


def here():
    system = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}[platform.system()]
    return system + ("-arm64" if platform.machine().lower() in ("aarch64", "arm64") else "-x64")


def version():
    """That of the POM, as the jar has it."""
    with zipfile.ZipFile(JAR) as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
    return re.search(r"^Implementation-Version: (\S+)", manifest, re.MULTILINE).group(1)


def in_jar():
    """Platforms whose libraries the jar has: this one, or all with the profile dist."""
    with zipfile.ZipFile(JAR) as jar:
        natives = [name for name in jar.namelist() if TLS.match(name)]
    return [name for name, (_, own) in PLATFORMS.items() if any(re.match(own, native) for native in natives)]


def jar_for(name, to, compression=zipfile.ZIP_DEFLATED):
    """The same bytes for the same jar, whenever it is made."""
    own = re.compile(PLATFORMS[name][1])
    with zipfile.ZipFile(JAR) as jar, zipfile.ZipFile(to, "w", compression, compresslevel=6) as slim:
        for entry in jar.infolist():
            if not entry.is_dir() and (own.match(entry.filename) or not NATIVE.match(entry.filename)):
                copied = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
                copied.compress_type = compression
                copied.external_attr = 0o644 << 16
                slim.writestr(copied, jar.read(entry))
