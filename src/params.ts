/**
 * The names that stand more than once among parameters, each once. In one pass: with `getAll` for each name, 64 KB of
 * short names keep the process busy for more than a second.
 */
export function repeatedNames(params: URLSearchParams): string[] {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of params.keys()) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return [...repeated]
}
