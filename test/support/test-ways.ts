import type { Compilation } from '../../src/graphql/compiled/execute.ts'
import type { Door } from '../../src/http/door/serve.http.ts'

/** The door of the app that tests start: with `VESTIBULE_TEST_DOOR=web`, they run over the other one. */
export const testDoor: Door = process.env.VESTIBULE_TEST_DOOR === 'web' ? 'web' : 'node'

/** With `VESTIBULE_TEST_ROWS=plain`, pg reads the rows of statements. */
export const readsPlainRows = process.env.VESTIBULE_TEST_ROWS === 'plain'

/** Queries are compiled at once; with `VESTIBULE_TEST_QUERIES=plain`, none is. */
export const compilation: Compilation = process.env.VESTIBULE_TEST_QUERIES === 'plain' ? 'none' : 'all'
