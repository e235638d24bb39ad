package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SchemaTextTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'object','properties':{'a':{'type':'string','minLength':40,'maxLength':42},'b':{'type':'null'}},'required':['a']}",
        "{'type':'array','items':{'type':'integer','exclusiveMinimum':3,'exclusiveMaximum':5},'minItems':4}",
        "{'type':'array','items':{'type':'boolean'},'maxItems':1}",
        "{'type':'number','minimum':0.5,'exclusiveMaximum':0.6}",
        "{'type':'number','maximum':-7}",
        "{'type':['integer','null'],'minimum':900}",
        "{'type':'string','maxLength':5}",
        "{'enum':['x',7,null,{'y':1}]}",
        "{'anyOf':[{'type':'number','minimum':2,'maximum':2},{'type':'string'}]}",
        "{'type':'object','properties':{'child':{'$ref':'#'},'list':{'type':'array','items':{'$ref':'#/$defs/n'}}},'$defs':{'n':{'type':'integer'}}}",
      })
  void textIsValidForItsSchema(String json) throws Refusal {
    JsonNode schema = EngineClient.json(json.replace('\'', '"'));
    SchemaText.check(schema, "response_format");
    for (long seed = 0; seed < 200; seed++) {
      String text = SchemaText.of(schema, seed);
      assertThat(text).isEqualTo(SchemaText.of(schema, seed)).isPrintable();
      valid(schema, EngineClient.json(text), schema);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'integer','minimum':0.1,'maximum':0.9}",
        "{'type':'number','minimum':2,'maximum':1}",
        "{'type':'number','exclusiveMinimum':1,'maximum':1}",
        "{'type':'string','minLength':9,'maxLength':8}",
        "{'type':'array','minItems':2,'maxItems':1}",
        "{'type':'object','required':['a']}",
        "{'type':'date'}",
        "{'$ref':'#/missing'}",
        "{'type':'object','properties':{'a':{'$ref':'#'}},'required':['a']}",
      })
  void unsupportedSchemaIsRejected(String json) {
    JsonNode schema = EngineClient.json(json.replace('\'', '"'));
    assertThatThrownBy(() -> SchemaText.check(schema, "tools"))
        .isInstanceOf(Refusal.class)
        .hasMessageStartingWith("The JSON schema cannot be met: ");
  }

  /** A small validator of its own, straight from the standard's words. */
  private static void valid(JsonNode schema, JsonNode value, JsonNode root) {
    if (schema.has("$ref")) {
      valid(root.at(schema.path("$ref").textValue().substring(1)), value, root);
      return;
    }
    if (schema.has("anyOf")) {
      valid(schema.path("anyOf").path(0), value, root);
      return;
    }
    if (schema.has("enum")) {
      assertThat(schema.path("enum")).contains(value);
      return;
    }
    JsonNode type = schema.path("type");
    switch (type.isArray() ? type.path(0).textValue() : type.textValue()) {
      case "object" -> object(schema, value, root);
      case "array" -> {
        assertThat(value.isArray()).isTrue();
        assertThat(value.size())
            .isBetween(schema.path("minItems").asInt(0), schema.path("maxItems").asInt(99));
        value.forEach(item -> valid(schema.path("items"), item, root));
      }
      case "string" ->
          assertThat(value.textValue().length())
              .isBetween(schema.path("minLength").asInt(0), schema.path("maxLength").asInt(99));
      case "integer", "number" -> number(schema, value);
      case "boolean" -> assertThat(value.isBoolean()).isTrue();
      default -> assertThat(value.isNull()).isTrue();
    }
  }

  private static void object(JsonNode schema, JsonNode value, JsonNode root) {
    assertThat(value.isObject()).isTrue();
    schema.path("required").forEach(name -> assertThat(value.has(name.textValue())).isTrue());
    for (Map.Entry<String, JsonNode> property : value.properties()) {
      valid(schema.at("/properties/" + property.getKey()), property.getValue(), root);
    }
  }

  private static void number(JsonNode schema, JsonNode value) {
    assertThat(value.isNumber()).isTrue();
    if (schema.path("type").asText().equals("integer")) {
      assertThat(value.isIntegralNumber()).isTrue();
    }
    BigDecimal number = value.decimalValue();
    schema
        .properties()
        .forEach(
            each -> {
              JsonNode bound = each.getValue();
              if (bound.isNumber()) {
                int order = number.compareTo(bound.decimalValue());
                switch (each.getKey()) {
                  case "minimum" -> assertThat(order).isNotNegative();
                  case "maximum" -> assertThat(order).isNotPositive();
                  case "exclusiveMinimum" -> assertThat(order).isPositive();
                  case "exclusiveMaximum" -> assertThat(order).isNegative();
                  default -> throw new AssertionError(each.getKey());
                }
              }
            });
  }
}
