import { jest } from '@jest/globals';
import { type Isolation, refusalOf } from './isolation.js';

const none = (isWanted: boolean): Isolation => ({ mode: 'none', detail: 'no bwrap', isWanted });
const one = (): Promise<boolean> => Promise.resolve(false);
const several = (): Promise<boolean> => Promise.resolve(true);

describe('a worker without a boundary', () => {
  let uid: ReturnType<typeof jest.spyOn>;
  const be = (number: number): void => {
    uid = jest.spyOn(process, 'getuid').mockReturnValue(number);
  };
  afterEach(() => uid.mockRestore());

  it('takes no runs as root, however few organizations there are', async () => {
    be(0);
    expect(await refusalOf(none(false), 'auto', one)).toContain('As root this worker runs none');
  });

  it('takes those of one organization as somebody else', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'auto', one)).toBeNull();
    expect(await refusalOf(none(false), 'auto', several)).toContain('more than one organization');
  });

  it('takes none where a boundary is demanded, and any where none is wanted', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'bubblewrap', one)).toContain('no bwrap');
    be(0);
    expect(await refusalOf(none(true), 'none', several)).toBeNull();
  });
});
