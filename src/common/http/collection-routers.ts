import express, {
  Router,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';

/** Collection in a path: `jobs` in `/api/v2/jobs/7/`. Paths are matched case-insensitively. */
const COLLECTION = /^\/api\/v2\/([a-z_]+)(?:\/|$)/i;

/**
 * Creates an Express application with one router for each collection of the API. A single router would
 * try the patterns of all routes in order, hundreds per request
 * (docs/decisions/0121-collection-routers.md).
 */
export function routedByCollection(): Express {
  const application = express();
  const routers = new Map<string, Router>();
  const routeOfAll = application.route.bind(application);
  application.route = (path: string) => {
    const name = collectionOf(path);
    if (name === undefined) return routeOfAll(path);
    // The routers are mounted with the first route: after the common middleware, before the wildcard.
    if (routers.size === 0) application.use(dispatch);
    const router = routers.get(name) ?? Router();
    routers.set(name, router);
    return router.route(path);
  };

  function dispatch(request: Request, response: Response, next: NextFunction): void {
    // A router would reply to OPTIONS of unknown routes itself; the API has one handler for all.
    const isOptions = request.method === 'OPTIONS';
    const router = isOptions ? undefined : routers.get(collectionOf(request.path) ?? '');
    if (router) router(request, response, next);
    else next();
  }

  return application;
}

const collectionOf = (path: string): string | undefined =>
  COLLECTION.exec(path)?.[1]?.toLowerCase();
