import cluster from 'node:cluster'
import { env } from './core/env.ts'
import { prepareHeap } from './core/heap.ts'
import { sendSchema } from './server/schema.ts'
import { superviseWorkers } from './server/workers.ts'

if (env.workers > 1 && cluster.isPrimary) superviseWorkers()
else {
  prepareHeap()
  const schema = sendSchema()
  // The server applies its migrations while this process loads the program. An embedded one is started meanwhile. The
  // program reports an error.
  if (env.databaseUrl) await schema.catch(() => {})
  const [{ createApp }, { runServer }] = await Promise.all([
    import('./app.ts'),
    import('./server/run-server.ts'),
  ])
  await runServer(schema, createApp)
}
