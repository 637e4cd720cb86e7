// Draws what stands on stdin as JSON, and prints the pictures as JSON: graphs in the language of
// Graphviz by Graphviz, charts in that of Vega-Lite by Vega. The argument is a folder whose
// node_modules has the packages. Nothing is read but stdin, and nothing is loaded from a network.
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(join(process.argv[2], "package.json"));
const load = (name) => import(pathToFileURL(resolve(name)));
const { graphs, charts } = JSON.parse(await text(process.stdin));
const pictures = {};

if (Object.keys(graphs).length) {
  const { Graphviz } = await load("@hpcc-js/wasm-graphviz");
  const graphviz = await Graphviz.load();
  for (const [name, graph] of Object.entries(graphs)) {
    pictures[name] = graphviz.layout(graph, "svg_inline", "dot");
  }
}
if (Object.keys(charts).length) {
  const [vega, vegaLite] = await Promise.all([load("vega"), load("vega-lite")]);
  const nothing = { load: () => Promise.reject(new Error("a chart loads nothing")) };
  for (const [name, chart] of Object.entries(charts)) {
    const view = new vega.View(vega.parse(vegaLite.compile(chart).spec), {
      loader: { ...vega.loader(), ...nothing },
      renderer: "none",
    });
    pictures[name] = await view.toSVG();
    view.finalize();
  }
}
process.stdout.write(JSON.stringify(pictures));
