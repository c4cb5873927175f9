import ReaderKit

/// The radio field before a chip: whether it is on, and the card in it.
struct PN532Field: Sendable {
    private(set) var card: (any SimulatedCard)?
    private(set) var isOn = false
    /// Counts what makes a card forget that it was selected: another card, and every loss of power.
    private(set) var activation = 0
    private(set) var exchanges = 0

    /// The identifier since the card last got power. A card keeps it as long, however often it is selected.
    private var uid: [UInt8] = []
    private var isFresh = true
    private var tear: (remaining: Int, afterwards: Bool)?

    var face: RadioFace? { card.flatMap { RadioFace($0, uid: uid) } }

    var shownUID: [UInt8] { uid }

    // MARK: Power

    mutating func insert(_ card: any SimulatedCard) {
        remove()
        self.card = card
        if isOn { power() }
    }

    mutating func remove() {
        guard let card = card.take() else { return }
        tear = nil
        activation += 1
        if isOn { card.powerOff() }
    }

    mutating func switchOn() {
        guard !isOn else { return }
        isOn = true
        power()
    }

    mutating func switchOff() {
        guard isOn else { return }
        isOn = false
        activation += 1
        card?.powerOff()
    }

    private mutating func power() {
        activation += 1
        isFresh = true
        card?.powerOn()
        uid = card?.uid ?? []
    }

    /// The card is woken and selected anew: it forgets its state, but not its identifier.
    mutating func wake() {
        activation += 1
        guard !isFresh else { return }
        isFresh = true
        card?.powerOff()
        card?.powerOn()
    }

    // MARK: Exchanges

    mutating func planTear(at exchange: Int, afterwards: Bool) {
        tear = (max(0, exchange), afterwards)
    }

    mutating func exchange(frame: RawFrame) -> RawFrame? { exchange { $0.receive(frame: frame) } }

    mutating func exchange(apdu: [UInt8]) -> [UInt8]? { exchange { $0.receive(apdu: apdu) } }

    private mutating func exchange<Answer>(_ body: (any SimulatedCard) -> Answer?) -> Answer? {
        guard isOn, let card else { return nil }
        isFresh = false
        let (isTorn, afterwards) = (tear?.remaining == 0, tear?.afterwards ?? false)
        tear?.remaining -= 1
        var answer: Answer?
        if !isTorn || afterwards {
            exchanges += 1
            answer = body(card)
        }
        guard isTorn else { return answer }
        remove()
        return nil
    }
}
