import { poll } from './poll.js';

it('poll repeats a check that failed, until a check is done', async () => {
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  const check = jest.fn<Promise<boolean>, []>();
  check.mockRejectedValueOnce(new Error('EMFILE')).mockResolvedValueOnce(false);
  const done = new Promise<void>((resolve) => {
    check.mockImplementationOnce(async () => {
      resolve();
      return true;
    });
  });
  const stop = poll(5, check);
  await done;
  stop();
  process.off('unhandledRejection', unhandled);
  expect(check).toHaveBeenCalledTimes(3);
  expect(unhandled).not.toHaveBeenCalled();
});
