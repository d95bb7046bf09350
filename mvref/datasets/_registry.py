"""The files that mvref knows: name, sha256, and where a checked copy can be downloaded.

A sha256 is that of the *uncompressed* content, so that ``file`` and ``file.gz`` are one entry.
A URL stands here only if one file of known content lies behind it, as it is or as ``.gz``.
Everything else has to be put into its folder by hand; `BY_HAND` says what and where from.
"""

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
UCI_MFEAT = f"{UCI}/mfeat"
UCI_OPTDIGITS = f"{UCI}/optdigits"
VGG_FLOWERS = "https://www.robots.ox.ac.uk/~vgg/data/flowers/17"
UCR_UWAVE = "https://timeseriesclassification.com/description.php?Dataset=UWaveGestureLibrary"
MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"
REUTERS_1200 = "https://github.com/ChuanbinZhang/Multi-view-datasets"
REUTERS_600 = "https://github.com/mbrbic/Multi-view-LRSSC"
UCI_REUTERS = f"{UCI}/00259"
LINQS_CITESEER = "https://linqs-data.soe.ucsc.edu/public/lbc/citeseer.tgz"
CMU_WEBKB = "http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-51/www/co-training/data"
LEAR_FEATURES = "http://lear.inrialpes.fr/people/guillaumin/data.php"

# file that comes with mvref -> sha256
EMBEDDED = {"mfeat.xz": "0306b0b11e03ac08f38444209c561ce393b518c4f7f586cb88c12bcacd368080"}

# data set -> its folder, where that has another name
FOLDERS = dict.fromkeys(["reuters1200", "reuters600", "reuters_full"], "reuters")
FOLDERS |= {"webkb": "webkb-course", "voc07": "pascal-voc07"}

# data set -> file -> (sha256, URL or None)
FILES = {
    "mfeat": {
        "mfeat-fac": (
            "83be9bc9fd50c6dd0b0532f6b6101956f1cf51c71b33f22d3f0cd2b5befb31b5",
            f"{UCI_MFEAT}/mfeat-fac",
        ),
        "mfeat-fou": (
            "d2bed48a4d302efe77bd80d52e16a211e99efe6fee9baf1c28dcc199c43c50ad",
            f"{UCI_MFEAT}/mfeat-fou",
        ),
        "mfeat-kar": (
            "db832668544497d0c06a2c1d1bfa0e17ba672812b7cfa6ed19f0941e19e1d7fa",
            f"{UCI_MFEAT}/mfeat-kar",
        ),
        "mfeat-mor": (
            "8767b326d874f096de06d525a2df4e610f4e9dfe91e29c250d8a3054907e3b61",
            f"{UCI_MFEAT}/mfeat-mor",
        ),
        "mfeat-pix": (
            "70a1cd033add46614464a8740ddc23c3693765985bde52ccb6b702bff23b64f1",
            f"{UCI_MFEAT}/mfeat-pix",
        ),
        "mfeat-zer": (
            "d4a0e302f2f61e823b906f78818c7c0ef078c0bbc23022affd6607d60ecfe4f3",
            f"{UCI_MFEAT}/mfeat-zer",
        ),
    },
    "uwave": {
        "uwave_ucr2018_xyz.npz": (
            "a0b44bcd83ceca09ba10a500d92700c92ec1241d82aa52c0d296fa4dc5d9ee16",
            None,
        ),
        "UWaveGestureLibraryX_TRAIN.tsv": (
            "9e8d695d5a49a47a8322908c2000fb9fe8b593f9fbfce3332840d70de7503856",
            None,
        ),
        "UWaveGestureLibraryY_TRAIN.tsv": (
            "35e429dc78f12811bb5986eff154528f39b9d04440283e1ac5f4474ea5e0a9aa",
            None,
        ),
        "UWaveGestureLibraryZ_TRAIN.tsv": (
            "2761f0ff70df83d37364cacac352b99242bef00bf13765890cb7bb2c7e2face2",
            None,
        ),
    },
    "flower17": {
        "datasplits.mat": (
            "634c141457b039095372c70685ecb0cbc88b7945eb7a9673690c0a39ebf2d481",
            f"{VGG_FLOWERS}/datasplits.mat",
        ),
        "flower17_7views_recomputed.npz": (
            "258d52b6dbf16c7e1ade7a6d2ebed25d810cb01dfece684f4a3b935b4f293133",
            None,
        ),
    },
    "mnist": {
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            f"{MNIST_MIRROR}/train-images-idx3-ubyte.gz",
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            f"{MNIST_MIRROR}/train-labels-idx1-ubyte.gz",
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            f"{MNIST_MIRROR}/t10k-images-idx3-ubyte.gz",
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            f"{MNIST_MIRROR}/t10k-labels-idx1-ubyte.gz",
        ),
    },
    "reuters1200": {
        "Reuters-1200.mat": (
            "cf549b72a66d7418a639a940899993c052bab9ec868fd493451cf85cd0d81d14",
            None,
        ),
    },
    "reuters600": {
        "reuters600_fullvocab.mat": (
            "7891013c24a821f56a5423387caaa4c609ff0a91c8df177a689dfaf0381c5761",
            None,
        ),
    },
    "reuters_full": {},  # the sha256 of its 25 files are not known
    "citeseer": {
        "citeseer.content": (
            "de4a3ca98626d77193f27af5c976b981a56080e6273c4e1c05764a95d2143ff8",
            None,
        ),
        "citeseer.cites": (
            "cd9730630eaaa745058c2cd2cce6b9afb79ca71278a479aebec55f4cf5eb7f30",
            None,
        ),
    },
    "webkb": {},  # see MANIFESTS
    "voc07": {},  # the sha256 of its files are not known
    "lung-cancer": {
        "lung-cancer.data": (
            "5fe074a5e4b44816e958b3f37503b1357a1543daa7eee77485040b0e3aef18f1",
            f"{UCI}/lung-cancer/lung-cancer.data",
        ),
    },
    "house-votes-84": {
        "house-votes-84.data": (
            "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e",
            f"{UCI}/voting-records/house-votes-84.data",
        ),
    },
    "shuttle-landing-control": {
        "shuttle-landing-control.data": (
            "a93ffca47434936a33e227ce3f268eaab54794dc0303d08fb8fc3856c5e7174f",
            f"{UCI}/shuttle-landing-control/shuttle-landing-control.data",
        ),
    },
    "horse-colic": {  # the sha256 of the original horse-colic.test is not known: see _uci
        "horse-colic.data": (
            "270db486c78796143ffa84b4808118b3d4b96d1bd0f70bf22b3bb0bfca21e547",
            f"{UCI}/horse-colic/horse-colic.data",
        ),
    },
    "echocardiogram": {
        "echocardiogram.data": (
            "3d7dc4b3daef837f1b3b3c042e561697d6add718a2d6694de824faf1f1e340d4",
            f"{UCI}/echocardiogram/echocardiogram.data",
        ),
    },
    "optdigits": {
        "optdigits.tra": (
            "e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
            f"{UCI_OPTDIGITS}/optdigits.tra",
        ),
    },
}

# archive -> sha256 of the lines "<sha256>  <path>\n" of the files in it, sorted by path: the
# same for every way to pack the same files
MANIFESTS = {
    "course-cotrain-data": "0e3824e7ed25ae28ee8960a34f50a962d025373c5caac78fd40e45e958e86c15"
}

# data set -> what a user does to get it
BY_HAND = {
    "mfeat": f"Download mfeat-fac, -fou, -kar, -mor, -pix and -zer from {UCI_MFEAT}/",
    "uwave": (
        "Its licence forbids redistribution, so that mvref does not download it for you. Download "
        f"UWaveGestureLibraryX, Y and Z from {UCR_UWAVE}X (and Y, Z) and put the six files "
        "UWaveGestureLibrary[X,Y,Z]_[TRAIN,TEST].txt (or .tsv, .tsv.gz)"
    ),
    "flower17": (
        "Download distancematrices17gcfeat06.mat, distancematrices17itfeat08.mat and "
        f"datasplits.mat from {VGG_FLOWERS}/"
    ),
    "mnist": (
        "Download train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
        f"t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz from {MNIST_MIRROR}/"
    ),
    "reuters1200": f"Download Reuters-1200.mat from {REUTERS_1200} and put it",
    "reuters600": (
        f"Download datasets/reuters.mat from {REUTERS_600} and put it, under the name "
        "reuters600_fullvocab.mat,"
    ),
    "reuters_full": (
        f"Download rcv1rcv2aminigoutte.tar.bz2 from {UCI_REUTERS}/ and unpack its folder "
        "rcv1rcv2aminigoutte"
    ),
    "citeseer": (
        f"Download {LINQS_CITESEER} and put its files citeseer.content and citeseer.cites"
    ),
    "webkb": f"Download course-cotrain-data.tar.gz from {CMU_WEBKB}/ and put it, as it is,",
    "voc07": (
        f"Download the features of PASCAL VOC'07 (pascal07.20100609) from {LEAR_FEATURES} and put "
        "the files pascal07_*"
    ),
    "lung-cancer": f"Download lung-cancer.data from {UCI}/lung-cancer/",
    "house-votes-84": f"Download house-votes-84.data from {UCI}/voting-records/",
    "shuttle-landing-control": (
        f"Download shuttle-landing-control.data from {UCI}/shuttle-landing-control/"
    ),
    "horse-colic": f"Download horse-colic.data and horse-colic.test from {UCI}/horse-colic/",
    "echocardiogram": f"Download echocardiogram.data from {UCI}/echocardiogram/",
    "optdigits": f"Download optdigits.tra from {UCI_OPTDIGITS}/",
}


def checksums(dataset, files):
    """Return file -> sha256 for those of `files` whose content is known.

    files: File names; a final ``.gz`` is ignored.

    Examples
    --------
    >>> from mvref.datasets._registry import checksums
    >>> list(checksums("mfeat", ["mfeat-mor", "readme"]))
    ['mfeat-mor']
    """
    names = [file.removesuffix(".gz") for file in files]
    return {name: FILES[dataset][name][0] for name in names if name in FILES[dataset]}
