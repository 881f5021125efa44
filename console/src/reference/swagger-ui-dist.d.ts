/** The package has no types of its own. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  const SwaggerUI: (options: Readonly<Record<string, unknown>>) => void
  export = SwaggerUI
}
