import type { ImportEdge } from './imports.ts'

/** What files of a role never import: files, by the end of their path, and libraries. */
const ROLE_RULES: { files: RegExp; neverImport: RegExp }[] = [
  {
    files: /\.graphql\.ts$/,
    neverImport: /\.(rest|routes|http)\.ts$|\.pages\.tsx$|\.sql\.ts$|^src\/database\/db\.ts$/,
  },
  {
    files: /\.(rest|routes|http)\.ts$|\.pages\.tsx$/,
    neverImport: /\.graphql\.ts$|\.sql\.ts$|^src\/database\/db\.ts$/,
  },
  { files: /\.(rest|graphql)\.ts$/, neverImport: /\.(rest|routes)\.ts$|\.pages\.tsx$/ },
  { files: /\.fields\.ts$/, neverImport: /\.sql\.ts$|^src\/(database|events|delivery|coordination)\// },
]

/** The files that may import a library of a transport or a driver. */
const LIBRARY_FILES: { library: RegExp; files: RegExp }[] = [
  { library: /^pg$/, files: /^src\/database\// },
  { library: /^h3$/, files: /^src\/(app\.ts|rest\/)|\.(routes|http)\.ts$/ },
  {
    library: /^(graphql|graphql-yoga|graphql-ws|@pothos\/.*)(\/.*)?$/,
    files: /^src\/(graphql|server)\/|\.graphql\.ts$/,
  },
  { library: /^preact/, files: /^src\/pages\/|\.pages\.tsx$/ },
  { library: /^ioredis$/, files: /^src\/coordination\// },
  { library: /^undici$/, files: /^src\/core\/fetcher\.ts$/ },
]

/** A file that a transport calls, by its suffix. */
export const ROLE_FILE = /\.(graphql|rest|routes|http|pages)\.tsx?$/

const toLine = ({ from, line, to }: ImportEdge): string => `${from}:${line} imports ${to}`

/** The imports that the role of their file rules out, each as a line. */
export function findRoleViolations(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, to }) =>
      ROLE_RULES.some(
        ({ files, neverImport }) => files.test(from) && neverImport.test(to) && !isSameRole(from, to),
      ),
    )
    .map(toLine)
}

/** REST files share shapes of REST files, as GraphQL files do. */
const isSameRole = (from: string, to: string): boolean =>
  ROLE_FILE.exec(from)?.[1] === ROLE_FILE.exec(to)?.[1]

/** The imports of libraries outside the files that may use them, each as a line. */
export function findLibraryViolations(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, to }) =>
      LIBRARY_FILES.some(({ library, files }) => library.test(to) && !files.test(from)),
    )
    .map(toLine)
}

/** The imports that do not point to a lower floor, each as a line that names both sides. */
export function findFloorViolations(
  edges: readonly ImportEdge[],
  floors: readonly string[][],
  toUnit: (file: string) => string,
): string[] {
  const level = new Map(floors.flatMap((floor, index) => floor.map((unit) => [unit, index] as const)))
  return edges.flatMap(({ from, line, to }) => {
    const [unit, target] = [toUnit(from), toUnit(to)]
    const isBelow = (level.get(unit) ?? Number.NaN) < (level.get(target) ?? Number.NaN)
    return unit === target || isBelow ? [] : [`${from}:${line} imports ${to} (${unit} → ${target})`]
  })
}
