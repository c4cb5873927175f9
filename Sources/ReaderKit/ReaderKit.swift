// `import ReaderKit` is all that an application needs: the codecs, cards and passes below come with it.
@_exported import Captures
@_exported import CardCore
@_exported import CardPasses
@_exported import CardTags
@_exported import NDEFCodec
