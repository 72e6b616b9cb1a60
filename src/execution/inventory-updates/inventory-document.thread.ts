import { performTasks } from '../../common/thread.js';
import { parseDocument } from './parse-document.js';

performTasks(parseDocument);
