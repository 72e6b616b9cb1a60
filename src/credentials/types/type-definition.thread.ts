import { performTasks } from '../../common/thread.js';
import { validateTypeDefinition } from './input-schema.js';

performTasks(validateTypeDefinition);
