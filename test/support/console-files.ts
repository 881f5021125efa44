import { readFileSync } from 'node:fs'

/** Vite's manifest: the files of each source, and the sources that it imports. */
type Manifest = Record<string, { file: string; src?: string; css?: string[]; imports?: string[] }>

export const readConsoleFile = (name: string): Buffer =>
  readFileSync(new URL(`../../dist/console/${name}`, import.meta.url))

const START_SCREEN = 'src/screens/start/start-screen.tsx'

/** The names of the files that a browser loads for the first screen. */
export function listFirstLoad(): string[] {
  const manifest = JSON.parse(readConsoleFile('manifest.json').toString()) as Manifest
  const names = new Set<string>()
  const add = (key: string): void => {
    const { file, css = [], imports = [] } = manifest[key] as Manifest[string]
    if (names.has(file)) return
    for (const name of [file, ...css]) names.add(name)
    for (const imported of imports) add(imported)
  }
  add('index.html')
  add(START_SCREEN)
  return [...names]
}
