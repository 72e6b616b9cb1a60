/** Number of storages that the product, the browser tests and the framework of one file enable, with some reserve. */
const MAX_STORAGES = 10;

// Only in a run of many files can this fail: each file has a framework of its own.
it('storages of earlier spec files are disabled, because they slow down every promise', () => {
  const storages = Object.getOwnPropertySymbols(Promise.resolve()).filter(
    ({ description }) => description === 'kResourceStore',
  );
  expect(storages.length).toBeLessThan(MAX_STORAGES);
});
