import express, {
  Router,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';

/** `jobs` of `/api/v2/jobs/7/`. Paths are matched whatever their case. */
const COLLECTION = /^\/api\/v2\/([a-z_]+)(?:\/|$)/i;

/**
 * Express with a router for each collection of the API. One router alone would try the patterns of all
 * routes, one after the other, until it comes to the one that was asked for: hundreds a request
 * (docs/decisions/0121-a-router-for-each-collection.md).
 */
export function routedByCollection(): Express {
  const application = express();
  const routers = new Map<string, Router>();
  const routeOfAll = application.route.bind(application);
  application.route = (path: string) => {
    const name = collectionOf(path);
    if (name === undefined) return routeOfAll(path);
    // They come where the first of them does: behind what every request passes, before the wildcard.
    if (routers.size === 0) application.use(dispatch);
    const router = routers.get(name) ?? Router();
    routers.set(name, router);
    return router.route(path);
  };

  function dispatch(request: Request, response: Response, next: NextFunction): void {
    // A router answers OPTIONS by itself where it has no route for it; the API has one for all.
    const isOptions = request.method === 'OPTIONS';
    const router = isOptions ? undefined : routers.get(collectionOf(request.path) ?? '');
    if (router) router(request, response, next);
    else next();
  }

  return application;
}

const collectionOf = (path: string): string | undefined =>
  COLLECTION.exec(path)?.[1]?.toLowerCase();
