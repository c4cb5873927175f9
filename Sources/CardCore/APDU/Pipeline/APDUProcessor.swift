/// One part of the way from a command to the card: it passes commands on to the next part and does one thing itself.
///
/// ``APDUPipeline`` puts the parts together; a protocol with rules of its own puts together the ones it wants.
public protocol APDUProcessor {
    /// Carries out a command and returns the answer, whatever its status word.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU
}
