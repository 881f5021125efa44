import cluster from 'node:cluster'
import { env } from './core/env.ts'
import { prepareHeap } from './core/heap.ts'
import { sendSchema } from './server/schema.ts'
import { superviseWorkers } from './server/workers.ts'

if (env.workers > 1 && cluster.isPrimary) superviseWorkers()
else {
  prepareHeap()
  const schema = sendSchema({ isServer: true })
  // The program reports an error.
  const isSent = schema.catch(() => {})
  // The server applies its migrations while this process loads the program. An embedded one is started meanwhile.
  if (env.databaseUrl) await isSent
  const [{ createApp }, { runServer }] = await Promise.all([
    import('./app.ts'),
    import('./server/run-server.ts'),
  ])
  await runServer(schema, createApp)
}
