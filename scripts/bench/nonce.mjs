let last = 10_000_000;

/** Digits that no other request of this run has. */
export const nextNonce = () => String((last += 1));
