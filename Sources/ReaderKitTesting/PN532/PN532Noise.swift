/// The noise on the line of a simulated PN532.
public typealias PN532Noise = LineNoise
