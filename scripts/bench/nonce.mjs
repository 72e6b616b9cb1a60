/** Stands in recorded exchanges where each request has digits of its own. */
export const NONCE = '73519284';

let last = 10_000_000;

/** Digits no other request of this run has. */
export const nextNonce = () => String((last += 1));

/** Ids made in a benchmark are at least this: no other number in a statement is. */
export const FIRST_ID = 1_000_000;

/** The new ids in the rows of a result, in their order. */
export const idsIn = (rows) =>
  rows.flatMap((row) =>
    Object.values(row)
      .flat()
      .filter((value) => typeof value === 'number' && value >= FIRST_ID),
  );
