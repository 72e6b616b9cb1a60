/** Stands in recorded exchanges where each request has digits of its own. */
export const NONCE = '73519284';

let last = 10_000_000;

/** Digits no other request of this run has. */
export const nextNonce = () => String((last += 1));
