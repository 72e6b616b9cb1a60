let last = 10_000_000;

/** Returns digits that are unique to a request of this run. */
export const nextNonce = () => String((last += 1));
