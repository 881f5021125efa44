/** An origin that clients of the tests list. */
export const ORIGIN = 'https://admin.example.com'

/** The headers of a response that decide what a page of another origin may read. */
export const toCorsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))
