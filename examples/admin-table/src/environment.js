import { createClient } from 'graphql-ws'
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime'
import { getAuthorization, ISSUER } from './auth.js'

const url = `${ISSUER}/graphql`

async function fetchDocument({ text: query }, variables) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: await getAuthorization() },
    body: JSON.stringify({ query, variables }),
  })
  return response.json()
}

const streams = createClient({
  url: url.replace('http', 'ws'),
  connectionParams: async () => ({ authorization: await getAuthorization() }),
})

const subscribe = ({ text: query }, variables) =>
  Observable.create((sink) => streams.subscribe({ query, variables }, sink))

export const environment = new Environment({
  network: Network.create(fetchDocument, subscribe),
  store: new Store(new RecordSource()),
})
