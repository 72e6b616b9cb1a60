import { performTasks } from '../common/thread.js';
import { readSamlResponse } from './saml-claims.js';

performTasks(readSamlResponse);
