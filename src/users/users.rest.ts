import type { RestRoute } from '../rest/route.ts'

export const userRoutes: readonly RestRoute[] = []
