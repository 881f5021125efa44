import type pg from 'pg'

export type Described = { parameters: number[]; columns: { name: string; oid: number }[] }

type Field = { name: string; dataTypeID: number }
type Connection = {
  parse(query: { text: string; types: number[] }): void
  describe(what: { type: 'S' }): void
  sync(): void
  on(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
  off(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
}

/** Prepares a statement and describes its parameters and columns by type oids. Nothing is executed. */
export function describeStatement(client: pg.Client, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    const described: Described = { parameters: [], columns: [] }
    let failure: Error | undefined
    let connection: Connection | undefined
    const setParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      described.parameters = dataTypeIDs
    }
    client.query({
      submit(given: unknown) {
        connection = given as Connection
        connection.on('parameterDescription', setParameters)
        connection.parse({ text, types: [] })
        connection.describe({ type: 'S' })
        connection.sync()
      },
      handleRowDescription({ fields }: { fields: Field[] }) {
        described.columns = fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID }))
      },
      handleError(error: Error) {
        failure = error
        // The client waits for the connection to be in sync, and then for readyForQuery.
        connection?.off('parameterDescription', setParameters)
        reject(error)
      },
      handleReadyForQuery() {
        connection?.off('parameterDescription', setParameters)
        if (!failure) resolve(described)
      },
    } as unknown as pg.Submittable)
  })
}
