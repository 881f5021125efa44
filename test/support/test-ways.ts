import type { Compilation } from '../../src/graphql/compiled/execute.ts'
import type { ResponseWriter } from '../../src/http/node-response/serve.http.ts'

/** How the app that tests start writes responses: with `VESTIBULE_TEST_RESPONSES=web`, they run over the other way. */
export const testResponses: ResponseWriter = process.env.VESTIBULE_TEST_RESPONSES === 'web' ? 'web' : 'node'

/** With `VESTIBULE_TEST_ROWS=plain`, pg reads the rows of statements. */
export const readsPlainRows = process.env.VESTIBULE_TEST_ROWS === 'plain'

/** Queries are compiled at once; with `VESTIBULE_TEST_QUERIES=plain`, none is. */
export const compilation: Compilation = process.env.VESTIBULE_TEST_QUERIES === 'plain' ? 'none' : 'all'
