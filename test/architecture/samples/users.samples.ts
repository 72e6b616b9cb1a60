import { sql } from '../../../src/database/sql.js';
import { SOMEBODY } from './actors.js';
import * as users from '../../../src/users/users.repository.js';
import { fragmentsOf, type RoomSamples } from './samples.js';

export default {
  repositories: [],
  fragments: [fragmentsOf(users, { usernameOf: [[sql`1`, SOMEBODY]] })],
} satisfies RoomSamples;
