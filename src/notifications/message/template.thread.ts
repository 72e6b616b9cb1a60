import { performTasks } from '../../common/thread.js';
import { renderAll } from './template-renderer.js';

performTasks(renderAll);
