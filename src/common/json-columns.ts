import pg from 'pg';
import { parseExact } from './exact-json.js';

const { JSON: JSON_TYPE, JSONB } = pg.types.builtins;

/**
 * JSON columns contain what callers sent: integers of any size, floats such as `1.0`, names in their
 * original order.
 */
pg.types.setTypeParser(JSON_TYPE, parseExact);
pg.types.setTypeParser(JSONB, parseExact);
