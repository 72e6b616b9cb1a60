/** Loaded before the files whose tests start programs or stop services. */
import { jest } from '@jest/globals';

jest.setTimeout(300_000);
