/** Gives Swagger UI the plugins of the scripts before it. Needs no inline script: Swagger UI starts when the page is loaded. */
;(() => {
  const { plugins, fetchAnswer } = window.coatcheck
  const original = window.SwaggerUIBundle
  const withPlugins = (config) =>
    original({
      ...config,
      plugins: [...config.plugins, ...plugins],
      requestInterceptor: (request) => ({ ...request, userFetch: fetchAnswer }),
    })
  window.SwaggerUIBundle = Object.assign(withPlugins, original)
})()
