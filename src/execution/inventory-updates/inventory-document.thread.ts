import { performTasks } from '../../common/thread.js';
import { parseDocument } from './inventory-document.js';

performTasks(parseDocument);
